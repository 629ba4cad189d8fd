"""Words that stand alone in emails: common given names, and words by which people take something back."""

GIVEN_NAMES = frozenset(
    """
    aaron abby abdul abel abigail abraham achim ada adam adel adele adrian adriana adriano agata agnes
    agnieszka ahmed aidan aileen aisha aki akira al alain alan alba albert alberto albin aldo alec alejandra
    alejandro aleksander aleksandra alena alessandra alessandro alex alexander alexandra alexandre alexei
    alexis alf alfie alfons alfonso alfred ali alice alicia alina aline alison allan allen allison alma
    alois alvaro amanda amber amelia amelie amir amy ana anastasia anaïs anders andre andrea andreas andrei
    andrej andrew andries andrzej andré andrés andy angel angela angelika angelo angus anika anita anja ann
    anna annabel anne anneke anneli annette annie annika anouk ansgar anthony antje antoine anton antonia
    antonio antonín anya arend ari ariane arianna arjen armin arnaud arne arnold art arthur artur arturo
    arvid asa asger ash asher ashley astrid atle attila aubrey audrey august augusto aurelia aurélie
    aurélien austin ava avery axel aylin ayse ayşe baptiste barbara barbora barry bart bartek bartosz bas
    basil bastian bea beat beate beatrice beatriz becky bela ben benedict benedikt benita benjamin benno
    benny benoit benoît bente berit bernadette bernard bernd bernhard bernie bert berta berthold bertil
    bertrand beryl bess beth betsy bettina betty bianca bill billie billy birgit birgitta birte björn bjørn
    blake blanca bo bob bobby bodo bogdan boris brad bram brandon brenda brendan brent bret brett brian
    brigitte britt britta bruce bruno bryan bryce bud burkhard buz béla caitlin caleb calvin cameron camila
    camilla camille candice carina carl carla carlo carlos carlotta carmen carol carola carole carolin
    carolina caroline carolyn carsten casey casper cass catalina catarina caterina catherine cathrin cathy
    catrin cecilia cecilie cedric celia celine cem cesar chad chantal charles charlie charlotte chelsea
    cheryl chiara chloe chloé chris christa christel christian christiane christina christine christof
    christoph christophe christopher chuck cid cindy claas claes claire clara clare clark claude claudia
    claudio claus clement cliff clive clément cody colette colin connor conny conrad constance constantin
    cora cordula corey corina corinna corinne cornelia cornelius cosima craig cristian cristiano cristina
    curt curtis cynthia cyril cyrille cécile cédric céline césar dagmar daisy dale dalia damian damien damir
    damon dan dana dane dani daniel daniela daniele danielle danny daphne dario dariusz darko darren dave
    david davide dawid dawn dean debbie deborah debra declan dee deirdre delia dell delphine denis denise
    dennis derek dermot derrick desmond detlef devon diana diane dick didier diego dieter dietmar dietrich
    dilip dimitri dimitris dino dirk dolores dom dominic dominik dominika dominique don donald donna dora
    doreen dorian doris dorota dorothea dorothy doug douglas duncan dustin dwight dylan earl eberhard
    eckhard ed eddie eddy edgar edith edmund edna eduard eduardo edward edwin egon eileen einar elaine
    eleanor elena eleni elfriede eli elias elif elin elina elisa elisabeth elise eliza elizabeth elke ella
    ellen ellie elliot elliott elmar elsa elsbeth elvira emanuel emil emile emilia emilie emilio emily emir
    emma emmanuel emre endre enno enrico enrique enzo eric erica erich erik erika erin ernesto ernst errol
    erwin esben esteban estelle esther ethan etienne eugen eugene eva evan eve evelyn evi ewa ewan fabian
    fabien fabienne fabio fabrice fabrizio fanny fatima fatma fay federica federico felicia felicity felipe
    felix ferdinand fergus fernand fernanda fernando filip filippo finn fiona flavio fleur flo floor flora
    florence florent florian floris frances francesca francesco francine francis francisco franck franco
    frank frankie frans franz franziska françois françoise fraser fred freddie freddy frederic frederick
    frederik fredrik freya frida frieda friedrich fritz frédéric félix gabi gabriel gabriela gabriele
    gabriella gail gareth garry gary gaspard gavin geert geir gene geoff geoffrey georg george georges
    georgia georgina gerald geraldine gerd gerda gerhard germaine gernot gero gerold gert gertrud giacomo
    gian gianluca gianni gilbert giles gilles gina giorgia giorgio giovanna giovanni gisela giselle gitta
    gitte giulia giuliano giulio giuseppe glen glenn gloria goran gordon gosia grace graham grant greg
    gregor gregory greta gretchen grzegorz guido guillaume guillermo gunnar gunther gus gustav gustavo guy
    gwen gérard göran götz günter günther haakon hal halvard hamish hanna hannah hannelore hannes hannu hans
    harald hari harold harriet harry hartmut harvey hasan hassan heather hector hedda hedwig heidi heike
    heiko heiner heinrich heinz helen helena helene helga helge helmut helmuth hendrik henk henning henri
    henrietta henrik henry herbert herman hermann hilary hilda hilde hiro hiroshi holger holly horst howard
    hubert hugh hugo hugues håkan hélène iain ian ida ignacio igor ilka ilona ilse immo imre ina ines inga
    inge ingeborg ingemar inger ingo ingrid inka inés ioana ira irena irene irina iris irma isaac isabel
    isabell isabella isabelle isaiah isla ismael ivan ivana ivar ivo ivonne iwona jaakko jaap jack jackie
    jackson jacob jacqueline jacques jade jake jakob jakub jamal james jamie jan jana jane janet janez
    janice janina janine janne jannik janos janusz jared jarek jari jarmo jasmin jasmine jason jasper javier
    jay jaya jean jeanette jeanne jeff jeffrey jen jenna jennifer jenny jens jeremy jerome jerry jesper jess
    jesse jessica jessie jesus jesús jill jim jimmy jindra jiri jiří jo joachim joan joana joann joanna
    joanne joao joaquin joaquín jocelyn jochen jodie joe joel joelle joep joerg joey johan johann johanna
    johannes john johnny jolanda jon jona jonah jonas jonathan jonny joost jordan jordi jorge jorgen jorn
    jos joschka jose josef josefina josep joseph josephine josh joshua josie jost josé jouni joyce joão juan
    juana judith judy jukka jules julia julian juliana juliane julie julien juliet juliette julio julius jun
    junko jussi justin justine justus jutta jytte jános jérémy jérôme jörg jörn jürg jürgen kaarina kai
    kaisa kaj kalle kamil karel karen kari karim karin karina karl karla karol karolina karsten kaspar
    katarina katarzyna kate katerina kateřina kath katharina katherine kathleen kathrin kathy katia katie
    katja katrin katy kay kaya kaye kazuo keith kelly kelvin ken kenji kenneth kenny kerry kerstin kevin
    kieran kilian kim kimberly kira kirk kirsten kirsty kjell klara klaus knud knut konrad konstantin koos
    kora kris krista kristian kristin kristina kristof krzysztof kurt kyle lana lance lara larry lars lasse
    laszlo laura laure lauren laurence laurent lauri laurie lawrence lea leah leander lee leif leila lena
    leni lenka lennart lenny leo leon leona leonard leonardo leonie leonora leopold leroy les lesley leslie
    lester levi levin lewis lex león liam libby lidia lilia lilian lily lina linda lindsay line linnea linus
    lionel lisa lisbeth lise liselotte liv livia liz liza lizzie ljubica lloyd loes lois lola lone lorena
    lorenz lorenzo loretta lori lorna lorraine lothar lotta lotte lou louis louisa louise luc luca lucas
    lucia lucian luciano lucie lucien lucy lucía ludger ludmila ludovic ludwig luigi luis luisa luise luiz
    lukas luke lukáš luna lutz luuk luís lydia lyn lynn lászló maarten mabel maciej mads magali magda
    magdalena maggie magnus maija maike maja malcolm malin malte manfred manon manu manuel manuela mara marc
    marcel marcela marcella marcello marcelo marcin marco marcos marcus marek maren marga margaret margareta
    margarete margarita margit margot margret marguerite maria mariana marianne marie marieke mariella
    marija marika mariko marilyn marina mario marion maris marisa marita marius marja marjan mark marketa
    markku marko markus markéta marla marlene marlies marlon marta marten martha martijn martin martina
    martine marty martín marvin mary maría mateo mateusz mathew mathias mathieu mathilda mathilde matias
    matilda matt matteo matthew matthias matthieu matti mattias maud maureen maurice mauricio maurizio mauro
    max maxim maxime may maximilian maxine mechthild megan mehmet meike mel melanie melina melinda melissa
    mercedes merle meta mette mia micah michael michaela michal michał michel michela michele michelle
    michiel miguel mika mikael mike mikhail mikkel mikko mikolaj mila milan milena miles milo milos miloš
    mina mira miranda mireille miriam mirja mirjam mirko miroslav mitch mohamed mohammed moira mona monica
    monika monique morag morgan moritz morris morten moses muriel murray mustafa myles mélanie nadia nadine
    nadja nancy naomi natalia natalie natasha nathalie nathan nathaniel neal ned neil nele nell nelly nelson
    nia niall nicholas nick nicky nico nicola nicolai nicolas nicole niels nigel nik nika niklas niko nikola
    nikolai nikolaus nikos nils nina noah noel noemi nolan nora norbert noreen norma norman noël nuno oda
    odile ole oleg olga oliver olivia olivier olle olli ollie olof oluf omar ondrej ondřej oona orla orlando
    oscar oskar osman osvaldo otmar otto owen pablo paddy paloma pam pamela paola paolo pascal pascale pat
    patrice patricia patricio patrick patrik patrycja patty paul paula pauline paulo pavel pavla pawel paweł
    pax paz pedro peer peggy pekka penelope penny per percy perry pete peter petr petra petri petter phil
    philip philipp philippa philippe phillip phoebe phyllis pia pier pierre pieter pietro pilar pim piotr
    pirjo polly poul przemek pål rachel radek rafael rafal rafał raffaele ragnar ragnhild raimund rainer
    ralf ralph ramon ramona ramón randall randi randy raoul raphael raquel rasmus raul ravi ray raymond raúl
    rebecca reed regina reginald regis reidar reiko reiner reinhard reinhold remco remi renata renate renato
    renee rené renée reto rex rhea rhys ria ricardo riccardo rich richard rick ricky rico riikka rik rikke
    riley rita rob robbie robert roberta roberto robin rocco rod roderick rodney rodolfo rodrigo roel roger
    roland rolando rolf romain roman romina romy ron ronald ronja ronnie rory rosa rosalie rosalind rosanna
    rose rosemarie rosemary rosie ross rowan roxanne roy ruben ruby rubén rudi rudolf rudy rufus rune rupert
    russ russell rusty ruth ryan régis rémi sabina sabine sabrina sacha sadie sally salvador salvatore sam
    samantha sami samira samuel sandra sandro sandy sanjay sanna sanne santiago sara sarah sascha saskia
    saul scott sean sebastian sebastián sel selena selma sepp serena serge sergei sergio seth severin shane
    shannon sharon shaun shawn sheila shelley sherry shirley sid siegfried sierra sigmund sigrid sigurd
    silke silvan silvia silvio simon simona simone sina siobhan siri sjoerd skip slavko sofia sofie solveig
    sonia sonja sonya sophia sophie stacey stacy staffan stan stanislav stanley stefan stefania stefanie
    stefano steffen steffi stein stella sten stephan stephanie stephen steve steven stijn stina stu stuart
    stéphane stéphanie sue sunil susan susana susann susanna susanne susie suzanne svein sven svenja
    svetlana sybille sylvain sylvester sylvia sylvie séan sébastien sören søren tadeusz takashi tamara tania
    tanja tanya tara tarek tatiana tatjana taylor ted terence teresa terje terry tess tessa thea theo
    theodor theresa thierry thilo thomas thor thorben thorsten thérèse tiago tiffany tilda till tilman tim
    timo timothy tina tino tjark tobias tobin toby tod todd tom tomas tomasz tommaso tommy tomás tomáš toni
    tony tor torben tord tore torsten tove tracy travis trevor trine tristan troels trude trudy tuomas tuula
    ty tyler udo uffe ugo ulf uli ulla ulrich ulrik ulrike umberto urs ursula uschi ute uwe vaclav valentin
    valentina valeria valerie valérie vanessa vasco vera verena verner vernon veronica veronika vesa vicky
    victor victoria viktor viktoria ville vilma vince vincent vincenzo viola violet virginia vito vittorio
    vivian viviane vivien vladimir volker václav véronique waldemar wally walter wanda ward warren wayne
    wendelin wendy werner wes wesley wilfred wilfried wilhelm will willem william willie willy wim winfried
    winston wojciech wojtek wolf wolfgang wouter xaver xavier yael yann yannick yasmin yoko yolanda yuri
    yusuf yves yvette yvonne zac zach zachary zara zdeněk zeno zita zoe zofia zoltan zoltán zoé zuzana
    zygmunt álvaro ángel åsa élisabeth émile étienne łukasz
    """.split()
)
"""Common given names, in lower case: a line that begins with one may be the signature of a writer whom we
know by another name. Names that are also words with which people hesitate are left out."""


RETRACTION_WORDS = frozenset(
    """
    nah nope no wait whoops oops hmm hm uh uhm oh damn darn sorry stop cancel never maybe later tomorrow ah
    cancelled canceled rejected invalid void denied withdrawn withdraw declined nonsense kidding joke draft
    test example pending tbd todo tentative provisional conditional unconfirmed delayed argh doh err eh huh
    what why please not wrong undo help attention careful hold pause abort typo mistake error question
    unsure undecided perhaps possibly none nothing nobody neither nor first soon again instead correction
    retracted revoked moment second sec minute ignore disregard postponed unclear optional alternatively
    otherwise preliminary

    nein halt quatsch mist ups stopp warte wartet warten momentchen sekunde irrtum fehler vorsicht achtung
    scherz witz spaß abbruch abbrechen storno storniert rückzug entwurf frage blödsinn unsinn vertippt
    verklickt versehen versehentlich vielleicht eventuell evtl später morgen erst noch niemals nie nirgends
    ungültig zurück falsch doch sonst entschuldigung verzeihung pardon bitte probe vorläufig unklar unsicher
    ne nö nee nicht nichts abwarten hilfe

    non zut attends attendez attendre arrêtez arrête erreur annulé annulée annuler annulez brouillon jamais
    demain plutôt peut-être oups désolé désolée doucement faux blague pas hésite

    espera esperad esperen alto aún nunca mañana luego quizás quizá anulado anular cancelado borrador
    pregunta perdón perdona perdonad momento broma falso ojo nada tampoco

    não espere amanhã talvez erro cancela rascunho pergunta desculpe desculpa depois

    aspetta aspettate fermo ferma fermi mai domani forse errore annullato annulla bozza domanda scusa
    scusate piano sbagliato niente scherzo dopo

    neen wacht wachten nooit misschien fout foutje geannuleerd annuleer concept vraag grapje momentje straks
    niet

    nej vänta vent aldrig aldri imorgon kanske kanskje måske fel feil fejl ångra fortryd senere senare
    utkast spørsmål spørgsmål fråga beklager förlåt undskyld inte ikke ikkje øyeblikk øjeblik

    ei eikä odota odottakaa huomenna ehkä virhe peruuta peruttu luonnos kysymys anteeksi hetki seis
    myöhemmin bíddu nei aldrei kannski ekki oota ärge vist viga homme tühista

    czekaj czekajcie poczekaj zaczekaj stój jutro może błąd anuluj anulowane szkic pytanie przepraszam
    chwila chwileczkę nigdy później pomyłka nikdy počkej počkejte počkat čekej čekejte zítra možná chyba
    zruš zrušit zrušeno návrh otázka promiň promiňte pozor omyl později zajtra možno prepáč počkaj čakaj nem
    várj várjatok soha holnap talán hiba mégsem vázlat kérdés bocsánat bocs pillanat később rossz nu
    așteaptă asteapta niciodată mâine poate greșeală anulează anulat întrebare scuze čekaj čekajte stani
    sutra možda greška poništi pitanje oprosti nikad počakaj jutri mogoče napaka hayır bekle bekleyin dur
    asla yarın belki hata iptal taslak soru sonra yanlış nē pagaidi varbūt rīt kļūda palauk gal rytoj klaida
    tidak tunggu besok mungkin không chờ khoan
    """.split()
)
"""In the languages of those who play. They sign no email."""
